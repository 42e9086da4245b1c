package portal

// portalTexts are the texts of the portal.
type portalTexts struct {
	Skip      string `json:"skip"`
	Pages     string `json:"pages"`
	Account   string `json:"account"`
	Ideas     string `json:"ideas"`
	Roadmap   string `json:"roadmap"`
	Changelog string `json:"changelog"`
	Mine      string `json:"mine"`
	SignIn    string `json:"sign_in"`
	SignOut   string `json:"sign_out"`
	Powered   string `json:"powered"`

	Keys       string `json:"keys"`
	KeysMove   string `json:"keys_move"`
	KeysVote   string `json:"keys_vote"`
	KeysSearch string `json:"keys_search"`
	KeysShow   string `json:"keys_show"`
	KeysUse    string `json:"keys_use"`
	Close      string `json:"close"`

	AskedOn string `json:"asked_on"`
	VotedOn string `json:"voted_on"`

	BoardHeading     string `json:"board_heading"`
	BoardText        string `json:"board_text"`
	Send             string `json:"send"`
	Search           string `json:"search"`
	SearchButton     string `json:"search_button"`
	SearchHeading    string `json:"search_heading"`
	SearchFailed     string `json:"search_failed"`
	EndSearch        string `json:"end_search"`
	Found            plural `json:"found"`
	Order            string `json:"order"`
	Top              string `json:"top"`
	Trending         string `json:"trending"`
	Newest           string `json:"newest"`
	Status           string `json:"status"`
	All              string `json:"all"`
	Tags             string `json:"tags"`
	Paging           string `json:"paging"`
	More             string `json:"more"`
	FirstPage        string `json:"first_page"`
	AllIdeas         string `json:"all_ideas"`
	NoIdeas          string `json:"no_ideas"`
	NoIdeasText      string `json:"no_ideas_text"`
	NoneHere         string `json:"none_here"`
	SearchAll        string `json:"search_all"`
	NothingFound     string `json:"nothing_found"`
	NothingFoundText string `json:"nothing_found_text"`
	AskFor           string `json:"ask_for"`

	VoteFor         string `json:"vote_for"`
	SignInToVoteFor string `json:"sign_in_to_vote_for"`
	VotesName       string `json:"votes_name"`
	VoteRefused     string `json:"vote_refused"`
	VoteFailed      string `json:"vote_failed"`
	SignInFirst     string `json:"sign_in_first"`

	By              string `json:"by"`
	Files           string `json:"files"`
	Comments        string `json:"comments"`
	CommentsName    string `json:"comments_name"`
	NoComments      string `json:"no_comments"`
	EarlierComments string `json:"earlier_comments"`
	Somebody        string `json:"somebody"`
	Team            string `json:"team"`
	YourComment     string `json:"your_comment"`
	SendComment     string `json:"send_comment"`
	SignInToComment string `json:"sign_in_to_comment"`
	CommentSent     string `json:"comment_sent"`
	CommentHeld     string `json:"comment_held"`
	CommentInvalid  string `json:"comment_invalid"`
	CommentRefused  string `json:"comment_refused"`
	CommentFailed   string `json:"comment_failed"`

	RoadmapText string `json:"roadmap_text"`
	EmptyColumn string `json:"empty_column"`
	ShowAll     string `json:"show_all"`

	NewHeading         string `json:"new_heading"`
	NewText            string `json:"new_text"`
	YourIdea           string `json:"your_idea"`
	YourIdeaHint       string `json:"your_idea_hint"`
	Details            string `json:"details"`
	DetailsHint        string `json:"details_hint"`
	Email              string `json:"email"`
	EmailHint          string `json:"email_hint"`
	YourName           string `json:"your_name"`
	Optional           string `json:"optional"`
	LeaveEmpty         string `json:"leave_empty"`
	SendIdea           string `json:"send_idea"`
	Similar            string `json:"similar"`
	SimilarText        string `json:"similar_text"`
	TitleInvalid       string `json:"title_invalid"`
	DescriptionInvalid string `json:"description_invalid"`
	EmailInvalid       string `json:"email_invalid"`
	NameInvalid        string `json:"name_invalid"`
	IdeaSent           string `json:"idea_sent"`
	IdeaCounted        string `json:"idea_counted"`
	IdeaRefused        string `json:"idea_refused"`
	IdeaFailed         string `json:"idea_failed"`

	SignedIn       string `json:"signed_in"`
	SignInToFollow string `json:"sign_in_to_follow"`
	Asked          string `json:"asked"`
	Voted          string `json:"voted"`
	Moderated      string `json:"moderated"`
	Unseen         string `json:"unseen"`

	SignInText      string `json:"sign_in_text"`
	PrivateText     string `json:"private_text"`
	SignInGo        string `json:"sign_in_go"`
	SignInElsewhere string `json:"sign_in_elsewhere"`
	SignInEnded     string `json:"sign_in_ended"`
	MissingHeading  string `json:"missing_heading"`
	MissingText     string `json:"missing_text"`
	ProblemHeading  string `json:"problem_heading"`
	ProblemText     string `json:"problem_text"`

	NewsHeading string `json:"news_heading"`
	NewsText    string `json:"news_text"`
	Feed        string `json:"feed"`
	NoNews      string `json:"no_news"`
	NoNewsText  string `json:"no_news_text"`
	AllNews     string `json:"all_news"`
	Behind      string `json:"behind"`
}
